import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseRequest, type OssRequest } from '../../support/oss-double/oss-request.js';
import { signatureV1, stringToSignV1 } from '../../support/oss-double/signature-v1.js';
import { canonicalRequestV4, signatureV4, stringToSignV4 } from '../../support/oss-double/signature-v4.js';

function request(method: string, host: string, target: string, headers: Record<string, string>): OssRequest {
  const addressing = { region: 'cn-hangzhou', pathStyle: 'refused', cnames: new Map() } as const;
  return parseRequest(method, target, { ...headers, host }, addressing);
}

describe('signatures of the double of OSS', () => {
  it('V1 as in the documents', () => {
    const put = request('PUT', 'oss-example.oss-cn-hangzhou.aliyuncs.com', '/nelson', {
      'content-md5': 'ODBGOERFMDMzQTczRUY3NUE3NzA5QzdFNUYzMDQxNEM=',
      'content-type': 'text/html',
      date: 'Thu, 17 Nov 2005 18:49:58 GMT',
      'x-oss-meta-author': 'foo@bar.com',
      'x-oss-magic': 'abracadabra',
    });
    const stringToSign = stringToSignV1(put, 'Thu, 17 Nov 2005 18:49:58 GMT');
    expect(stringToSign).toBe(
      'PUT\nODBGOERFMDMzQTczRUY3NUE3NzA5QzdFNUYzMDQxNEM=\ntext/html\nThu, 17 Nov 2005 18:49:58 GMT\n' +
        'x-oss-magic:abracadabra\nx-oss-meta-author:foo@bar.com\n/oss-example/nelson',
    );
    expect(signatureV1('OtxrzxIsfpFjA7SwPzILwy8Bw21TLhquhboDYROV', stringToSign)).toBe(
      '26NBxoKdsyly4EDv6inkoDft/yA=',
    );
  });

  it('V4: the canonical request as in the documents', () => {
    const put = request('PUT', 'examplebucket.oss-cn-hangzhou.aliyuncs.com', '/exampleobject', {
      'content-disposition': 'attachment',
      'content-length': '3',
      'content-md5': 'ICy5YqxZB1uWSwcVLSNLcA==',
      'content-type': 'text/plain',
      'x-oss-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-oss-date': '20250411T064124Z',
    });
    const canonical = canonicalRequestV4(put, ['content-disposition', 'content-length'], 'UNSIGNED-PAYLOAD');
    expect(createHash('sha256').update(canonical).digest('hex')).toBe(
      'c46d96390bdbc2d739ac9363293ae9d710b14e48081fcb22cd8ad54b63136eca',
    );
  });

  it.each([
    ['20231216T162057Z', undefined, 'e21d18daa82167720f9b1047ae7e7f1ce7cb77a31e8203a7d5f4624fa0284afe'],
    ['20231217T034736Z', 'token', 'b94a3f999cf85bcdc00d332fbd3734ba03e48382c36fa4d5af5df817395bd9ea'],
  ])('V4 as in the tests of the SDKs, at %s, token %s', (timestamp, token, expected) => {
    const query = '%2Bparam1=value3&%2Bparam2=&param1=value1&param2=&%7Cparam1=value4&%7Cparam2=';
    const put = request('PUT', 'bucket.oss-cn-hangzhou.aliyuncs.com', `/1234%2B-/123/1.txt?${query}`, {
      abc: 'value',
      'content-type': 'text/plain',
      'x-oss-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-oss-date': timestamp,
      'x-oss-head1': 'value',
      ...(token === undefined ? {} : { 'x-oss-security-token': token }),
    });
    const scope = { date: timestamp.slice(0, 8), region: 'cn-hangzhou' };
    const stringToSign = stringToSignV4(canonicalRequestV4(put, [], 'UNSIGNED-PAYLOAD'), timestamp, scope);
    expect(signatureV4('sk', stringToSign, scope)).toBe(expected);
  });
});
