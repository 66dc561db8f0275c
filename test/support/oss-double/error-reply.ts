import type { Reply } from './call.js';
import { OssError } from './oss-error.js';
import { xmlDocument } from './xml.js';

/** The body of an error, and the headers that say the same where there is no body (HEAD). */
export function errorReply(failure: unknown, host: string, requestId: string): Reply {
  const error = failure instanceof OssError ? failure : internalError(failure);
  const xml = errorXml(error, host, requestId);
  return {
    status: error.status,
    headers: {
      ...(error.status === 304 ? {} : { 'Content-Type': 'application/xml' }),
      ...(error.ec === undefined ? {} : { 'x-oss-ec': error.ec }),
      ...error.headers,
      'x-oss-err': Buffer.from(xml).toString('base64'),
    },
    body: error.status === 304 ? [] : [Buffer.from(xml)],
  };
}

function errorXml(error: OssError, host: string, requestId: string): string {
  return xmlDocument('Error', [
    ['Code', error.code],
    ['Message', error.message],
    ['RequestId', requestId],
    ['HostId', host],
    ...Object.entries(error.details),
    ['EC', error.ec],
    [
      'RecommendDoc',
      error.ec === undefined ? undefined : `https://api.alibabacloud.com/troubleshoot?q=${error.ec}`,
    ],
  ]);
}

/** For rules that answer in the double's stead. */
export function ossErrorBody(code: string, message: string): string {
  return errorXml(new OssError(0, code, message), 'oss-double', '0123456789ABCDEF01234567');
}

/** A bug of the double; whoever sees it needs to know where. */
function internalError(failure: unknown): OssError {
  const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
  return new OssError(500, 'InternalError', `The double of OSS has failed: ${text}`);
}
