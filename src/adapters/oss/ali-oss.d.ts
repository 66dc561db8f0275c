/** What the adapter uses of ali-oss, which brings no types of its own. */
declare module 'ali-oss' {
  export interface ClientOptions {
    accessKeyId: string;
    accessKeySecret: string;
    stsToken?: string | undefined;
    region: string;
    endpoint: string;
    cname: boolean;
    /** Path style. */
    sldEnable: boolean;
    authorizationV4: boolean;
    /** Milliseconds that the store's clock is ahead. */
    amendTimeSkewed?: number;
    /** What sends a request, in place of the library of that name. */
    urllib: Sender;
  }

  export interface Sender {
    request(url: string, params: SenderParams): Promise<unknown>;
  }

  export interface SenderParams {
    method: string;
    headers: Record<string, string | number>;
    content?: Uint8Array | string | undefined;
    /** As it was given to {@link OSS.request}. */
    ctx?: unknown;
  }

  export interface RequestParams {
    method: string;
    bucket: string;
    object?: string | undefined;
    /** Query parameters that the signature V1 covers. */
    subres?: Readonly<Record<string, string>> | undefined;
    query?: Readonly<Record<string, string>> | undefined;
    headers: Readonly<Record<string, string>>;
    content?: Uint8Array | undefined;
    disabledMD5?: boolean | undefined;
    ctx?: unknown;
  }

  class OSS {
    constructor(options: ClientOptions);
    readonly options: ClientOptions;
    /** Signs and sends at once: nothing is awaited before the options were read. */
    request(params: RequestParams): Promise<unknown>;
    parseXML(text: Buffer | string): Promise<unknown>;
    _getReqUrl(params: Pick<RequestParams, 'bucket' | 'object' | 'query'>): string;
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
      expires: string,
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
    getSignatureV4(accessKeySecret: string, date: string, region: string, text: string): string;
  }

  const signUtils: SignUtils;
  export default signUtils;
}
