/** An error as OSS answers it. Messages are the documented ones; `details` are elements of the body after HostId. */
export class OssError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Which of the documented causes it is; missing where the documents name none. */
    readonly ec?: string,
    readonly details: Readonly<Record<string, string>> = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export function invalidArgument(message: string, name?: string, value?: string): OssError {
  const details = name === undefined ? {} : { ArgumentName: name, ArgumentValue: value ?? '' };
  return new OssError(400, 'InvalidArgument', message, undefined, details);
}

export function notImplemented(what: string): OssError {
  return new OssError(
    501,
    'NotImplemented',
    `A header you provided implies functionality that is not implemented: the double of OSS doesn't do ${what}.`,
  );
}

export function malformedXml(): OssError {
  return new OssError(
    400,
    'MalformedXML',
    'The XML you provided was not well-formed or did not validate against our published schema.',
  );
}

export function noSuchKey(key: string, headers: Record<string, string> = {}): OssError {
  return new OssError(
    404,
    'NoSuchKey',
    'The specified key does not exist.',
    '0026-00000001',
    { Key: key },
    headers,
  );
}

export function noSuchUpload(uploadId: string): OssError {
  return new OssError(
    404,
    'NoSuchUpload',
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
    '0042-00000002',
    { UploadId: uploadId },
  );
}

export function fileAlreadyExists(): OssError {
  return new OssError(
    409,
    'FileAlreadyExists',
    'The object you specified already exists and can not be overwritten.',
    '0042-00000214',
  );
}
