/** What the adapter, and the tests' reader, use of ali-oss, which brings no types of its own. */
declare module 'ali-oss' {
  export interface ClientOptions {
    accessKeyId: string;
    accessKeySecret: string;
    region: string;
    endpoint: string;
    cname: boolean;
    /** Path style. */
    sldEnable: boolean;
    authorizationV4?: boolean;
    /** What sends a request, in place of the library of that name. */
    urllib?: Sender;
  }

  export interface Sender {
    request(
      url: string,
      params: { method: string; headers: Record<string, string | number> },
    ): Promise<unknown>;
  }

  export interface RequestParams {
    method: string;
    bucket: string;
    object?: string;
    subres?: Readonly<Record<string, string>>;
    query?: Readonly<Record<string, string>>;
    headers: Readonly<Record<string, string>>;
  }

  class OSS {
    constructor(options: ClientOptions);
    request(params: RequestParams): Promise<unknown>;
    parseXML(text: Buffer | string): Promise<unknown>;
    _getReqUrl(params: { bucket: string }): string;
    static readonly STS: new (options: {
      accessKeyId: string;
      accessKeySecret: string;
      endpoint?: string;
    }) => StsClient;
  }

  export interface StsClient {
    assumeRole(
      role: string,
      policy: string | undefined,
      expirationSeconds: number,
      session: string,
    ): Promise<{
      credentials: {
        AccessKeyId: string;
        AccessKeySecret: string;
        SecurityToken: string;
        Expiration: string;
      };
    }>;
  }

  export default OSS;
}

declare module 'ali-oss/lib/common/signUtils.js' {
  type Values = Readonly<Record<string, string | number | null>>;

  export interface SignUtils {
    buildCanonicalString(
      method: string,
      resource: string,
      request: { headers: Values; parameters: Values },
      expires?: string,
    ): string;
    computeSignature(accessKeySecret: string, text: string): string;
    getCanonicalRequest(
      method: string,
      request: { headers: Values; queries: Values },
      bucket: string,
      object: string,
      additionalHeaders: readonly string[],
    ): string;
    getCredential(date: string, region: string, accessKeyId?: string): string;
    getStringToSign(region: string, date: string, canonicalRequest: string): string;
  }

  const signUtils: SignUtils;
  export default signUtils;
}
