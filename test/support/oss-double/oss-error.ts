export interface OssErrorMore {
  /** Which of the documented causes it is; left out where no document or client's test names one. */
  ec?: string;
  /** Elements of the body after HostId. */
  details?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
}

/** An error as OSS answers it. Messages are the documented ones. */
export class OssError extends Error {
  readonly ec: string | undefined;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    { ec, details = {}, headers = {} }: OssErrorMore = {},
  ) {
    super(message);
    this.ec = ec;
    this.details = details;
    this.headers = headers;
  }
}

export function invalidArgument(message: string, name?: string, value?: string): OssError {
  const details = name === undefined ? {} : { ArgumentName: name, ArgumentValue: value ?? '' };
  return new OssError(400, 'InvalidArgument', message, { details });
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
  return new OssError(404, 'NoSuchKey', 'The specified key does not exist.', {
    ec: '0026-00000001',
    details: { Key: key },
    headers,
  });
}

export function noSuchUpload(uploadId: string): OssError {
  return new OssError(
    404,
    'NoSuchUpload',
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
    { ec: '0042-00000002', details: { UploadId: uploadId } },
  );
}

export function fileAlreadyExists(): OssError {
  return new OssError(
    409,
    'FileAlreadyExists',
    'The object you specified already exists and can not be overwritten.',
    { ec: '0042-00000214' },
  );
}
