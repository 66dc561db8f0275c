import { describe, expect, it } from 'vitest';
import { classifyRequest, requestKinds, type RequestKind } from './request-kind.js';

const copySource = { 'x-amz-copy-source': '/b/other' };
const awsChunked = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '5' };
const presigned = 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260101T000000Z&X-Amz-Signature=00';

type Case = [kind: RequestKind, method: string, target: string, headers?: Record<string, string>];

const cases: Case[] = [
  ['initiate', 'POST', '/b/a/k?uploads'],
  ['initiate', 'POST', '/b/a/k?uploads='],
  ['initiate', 'POST', '/b/a/k?uploads=&x-id=CreateMultipartUpload'],
  ['part', 'PUT', '/b/a/k?partNumber=1&uploadId=U', { 'content-length': '5' }],
  ['part', 'PUT', '/b/a/k?uploadId=U&partNumber=1&x-id=UploadPart', awsChunked],
  ['part', 'PUT', `/b/a/k?partNumber=1&uploadId=U&${presigned}`],
  ['copy', 'PUT', '/b/a/k?partNumber=1&uploadId=U', copySource],
  ['copy', 'PUT', '/b/a/k?x-id=CopyObject', copySource],
  ['complete', 'POST', '/b/a/k?uploadId=U'],
  ['complete', 'POST', `/b/a/k?uploadId=U&${presigned}`],
  ['abort', 'DELETE', '/b/a/k?uploadId=U&x-id=AbortMultipartUpload'],
  ['put', 'PUT', '/b/a/k'],
  ['put', 'PUT', '/b/a/k?x-id=PutObject', awsChunked],
  ['put', 'PUT', `/b/a/k?${presigned}`],
  ['put', 'PUT', '/b/directory/'],
  ['get', 'GET', '/b/a/k'],
  ['get', 'GET', '/b/a/k?x-id=GetObject&partNumber=2', { range: 'bytes=0-3' }],
  ['get', 'GET', '/b/a/k?versionId=v'],
  ['head', 'HEAD', '/b/a/k'],
  ['head', 'HEAD', '/b/a/k?partNumber=1'],
  ['list', 'GET', '/b?list-type=2&prefix=a%2F'],
  ['list', 'GET', '/b/?list-type=2&prefix=a%2F&delimiter=%2F&continuation-token=t'],
  ['list', 'GET', '/b'],
  ['list', 'GET', '/b/?marker=a&max-keys=5'],
  ['list', 'GET', '/b?versions&prefix=a'],
  ['list_uploads', 'GET', '/b?uploads&prefix=a%2F'],
  ['list_uploads', 'GET', '/b/?uploads=&key-marker=k&upload-id-marker=U'],
  ['list_parts', 'GET', '/b/a/k?uploadId=U&max-parts=1000'],
  ['delete', 'DELETE', '/b/a/k'],
  ['delete', 'DELETE', '/b/a/k?versionId=v'],
  ['delete_many', 'POST', '/b?delete'],
  ['delete_many', 'POST', '/b/?delete=&x-id=DeleteObjects'],
  ['other', 'GET', '/'],
  ['other', 'HEAD', '/b'],
  ['other', 'HEAD', '/b/'],
  ['other', 'PUT', '/b'],
  ['other', 'PUT', '/b/'],
  ['other', 'DELETE', '/b'],
  ['other', 'POST', '/b'],
  ['other', 'GET', '/b?location'],
  ['other', 'GET', '/b/?lifecycle'],
  ['other', 'PUT', '/b?versioning'],
  ['other', 'GET', '/b/a/k?acl'],
  ['other', 'PUT', '/b/a/k?tagging'],
  ['other', 'GET', '/b/a/k?attributes'],
  ['other', 'POST', '/b/a/k?select&select-type=2'],
  ['other', 'OPTIONS', '/b/a/k'],
];

describe('classifyRequest', () => {
  it.each(cases)('%s: %s %s', (kind, method, target, headers = {}) => {
    expect(classifyRequest(method, target, headers).kind).toBe(kind);
  });

  it('has a case for every kind', () => {
    expect(new Set(cases.map(([kind]) => kind))).toEqual(new Set(requestKinds));
  });

  it.each([
    ['/b/a/k', 'a/k'],
    ['/b/a%2Fk', 'a/k'],
    ['/b/p%3D1/a%20b+c', 'p=1/a b+c'],
    ['/b/a/../k', 'a/../k'],
    ['/b//a//k/', '/a//k/'],
    ['/b/%E4%BD%A0', '你'],
    ['/b/100%', '100%'],
    ['http://host:1/b/a/k?uploadId=U', 'a/k'],
  ])('takes the key from %s', (target, key) => {
    expect(classifyRequest('GET', target, {})).toMatchObject({ bucket: 'b', key });
  });

  it('takes upload id and part number', () => {
    const part = classifyRequest('PUT', '/b/k?partNumber=12&uploadId=a%2Bb', {});
    expect(part).toEqual({ kind: 'part', bucket: 'b', key: 'k', uploadId: 'a+b', partNumber: 12 });
  });

  it('takes the prefix of listings', () => {
    expect(classifyRequest('GET', '/b?list-type=2&prefix=p%3D1%2F', {})).toMatchObject({
      key: '',
      prefix: 'p=1/',
    });
    expect(classifyRequest('GET', '/b?uploads', {})).toMatchObject({ prefix: '' });
    expect(classifyRequest('GET', '/b/k?prefix=x', {})).not.toHaveProperty('prefix');
  });
});
