import {
  duration,
  flag,
  type Infer,
  integer,
  list,
  named,
  oneOf,
  required,
  secret,
  section,
  size,
  text,
  withDefault,
} from './schema-nodes.js';

const capabilities = section(
  'What the store can do, where it differs from what the type is known for. `commitbridge check` probes most of it.',
  {
    conditionalPut: flag('PUT can be limited to absent keys. A staging root needs it.'),
    conditionalOverwrite: flag('PUT honours If-Match.'),
    conditionalComplete: flag('CompleteMultipartUpload can be limited to absent keys.'),
    dearConditionalComplete: flag('It is so limited that only jobs in conflict mode `fail` ask for it.'),
    conditionalDelete: flag('DELETE honours If-Match.'),
    listUploadsByPrefix: flag('ListMultipartUploads lists by prefix, not by exact key only.'),
    presign: flag('Presigned UploadPart URLs work.'),
    idempotentComplete: flag('A repeated CompleteMultipartUpload succeeds.'),
    equalParts: flag('All parts but the last must have one size.'),
    emptyParts: flag('A part of 0 bytes is taken.'),
    minPart: size('1B', '5GiB', 'Least size of every part but the last.'),
    maxPart: size('1MiB', '50GiB', 'Greatest size of a part.'),
    maxParts: integer(1, 100_000, 'Parts in an upload at most.'),
    maxObject: size('1MiB', '50TiB', 'Greatest size of an object.'),
    maxKey: size('64B', '64KiB', 'Longest key, in bytes of UTF-8.'),
  },
);

const store = section('One store: an endpoint with one set of credentials.', {
  type: required(
    oneOf(['s3', 'oss', 'memory'], 'The kind of store. `memory` forgets all at exit: for trying things out.'),
  ),
  endpoint: text(
    'URL of an S3-compatible store, as `https://minio.example.com:9000`, or of OSS, as ' +
      "`https://oss-cn-hangzhou.aliyuncs.com`. Without it: AWS's or OSS's own in `region`.",
  ),
  region: text(
    'Region that requests are signed for. Default: `us-east-1`; `oss` has none and needs it, as `cn-hangzhou`.',
  ),
  pathStyle: flag(
    'Address buckets as `endpoint/bucket`. Default: true for `s3` where `endpoint` is set, otherwise false. OSS itself ' +
      'refuses it.',
  ),
  internal: flag("`oss`: the region's endpoint within Aliyun's network. Default: false."),
  cname: flag('`oss`: `endpoint` is a domain that is bound to the bucket. Default: false.'),
  signature: oneOf(['v1', 'v4'], '`oss`: version of signatures. Default: `v4`.'),
  maxConnections: withDefault(integer(1, 10_000, 'Connections to the store at most.'), '256'),
  credentials: section(
    "Either `accessKeyId` with `secretAccessKey`, or `file`, or nothing: then the SDK's own chain (environment, " +
      'shared files, container or instance role); for `oss` the variables OSS_ACCESS_KEY_ID, OSS_ACCESS_KEY_SECRET and ' +
      'OSS_SESSION_TOKEN, or ALIBABA_CLOUD_ACCESS_KEY_ID, ALIBABA_CLOUD_ACCESS_KEY_SECRET and ' +
      'ALIBABA_CLOUD_SECURITY_TOKEN.',
    {
      accessKeyId: text('Access key id.'),
      secretAccessKey: secret('Secret access key.'),
      sessionToken: secret('Session token of temporary credentials.'),
      file: text(
        'File that somebody rotates, read again when it changes: JSON as of a `credential_process` (AccessKeyId, ' +
          'SecretAccessKey, SessionToken, Expiration), or lines as in an AWS shared credentials file. `oss`: JSON as STS ' +
          'answers it (AccessKeyId, AccessKeySecret, SecurityToken, Expiration), or lines as in the configuration of ' +
          'ossutil.',
      ),
      sts: section(
        '`oss`: assume a RAM role with those credentials, again before each set of its keys ends. The key must be a lasting ' +
          'one, without `sessionToken` or OSS_SESSION_TOKEN.',
        {
          roleArn: text(
            'The role, as `acs:ram::1234567890:role/commitbridge`. Nothing else of this section without it.',
          ),
          sessionName: withDefault(text('Name of the session, for audits.'), 'commitbridge'),
          duration: withDefault(
            duration('15m', '12h', "How long a set of keys lives; the role's own limit counts."),
            '1h',
          ),
          endpoint: text('URL of STS. Default: `https://sts.aliyuncs.com`.'),
        },
      ),
    },
  ),
  encryption: section('Encryption by the store, with its own keys.', {
    mode: oneOf(
      ['AES256', 'aws:kms', 'KMS'],
      "Asked for each object; `aws:kms` is S3's, `KMS` is OSS's. Default: the bucket's own.",
    ),
    kmsKeyId: text("Key for `aws:kms` or `KMS`; without it the account's default key."),
  }),
  storageClass: text("Storage class of the objects. Default: the store's own."),
  capabilities,
});

const root = section('A URI prefix that jobs may write below. Of nested roots the longest counts.', {
  uri: required(
    text('`s3a://bucket/prefix` or `oss://bucket/prefix`; `s3`, `s3a` and `s3n` are one scheme.'),
  ),
  store: required(text('Name of an entry of `stores`.')),
  staging: text(
    'URI prefix for the state of jobs, on a bucket of the same store that puts conditionally. Default: ' +
      '`.commitbridge/jobs/` at the top of the bucket of `uri`.',
  ),
  principals: list(
    'Who may use this root. Default: everybody who may call the daemon.',
    required(text('A principal.')),
  ),
  listing: oneOf(['never', 'exclusive'], 'As `cleanup.listing`, for this root. Default: that one.'),
});

/** Every key of the configuration: what it is called, takes, means and is by default. */
export const schema = section('', {
  listen: list(
    'Addresses of the gRPC server: `unix:///path/name.sock` or `host:port`. Port 0 takes a free one.',
    required(text('An address.')),
    ['127.0.0.1:7420'],
  ),
  insecure: withDefault(flag('Allow plain text on TCP addresses that other machines reach.'), 'false'),
  tls: section('TLS on the TCP addresses of `listen`. Files are read again when they change.', {
    cert: text('PEM file with the certificate chain of the daemon.'),
    key: text('PEM file with its private key.'),
    clientCa: text(
      'PEM file with the authorities of client certificates. With it every TCP client must present one; its first ' +
        'URI, DNS or e-mail name, else its common name, is the principal.',
    ),
    minVersion: withDefault(oneOf(['1.2', '1.3'], 'Lowest TLS version.'), '1.3'),
  }),
  auth: section('Identity of callers.', {
    tokensFile: text(
      'File with a line `PRINCIPAL TOKEN` for each bearer token; read again when it changes. With it every call on a ' +
        'TCP address needs a token (or a client certificate, with `tls.clientCa`).',
    ),
  }),
  admin: section('HTTP server for machines that look after the daemon.', {
    listen: text(
      '`host:port` for /metrics, /healthz and /readyz. Without it there is none. It asks for no identity.',
    ),
  }),
  stores: named('Object stores, by a name of your choice.', 'NAME', store),
  roots: list('Where jobs may write. At least one.', root),
  log: section('Logs: one JSON object a line, on stderr.', {
    level: withDefault(oneOf(['debug', 'info', 'warn', 'error'], 'The least that is logged.'), 'info'),
  }),
  limits: section('Limits.', {
    maxMessage: withDefault(size('64KiB', '256MiB', 'Largest gRPC message that the daemon takes.'), '16MiB'),
    completeConcurrency: withDefault(
      integer(1, 4_096, 'Uploads that one CommitJob completes at a time.'),
      '64',
    ),
    recordConcurrency: withDefault(integer(1, 4_096, 'Records that one CommitJob reads at a time.'), '64'),
    sessionMemory: withDefault(
      size('1MiB', '4GiB', 'Memory of one HTTP/2 connection; a client with many calls at a time needs more.'),
      '64MiB',
    ),
    connectionIdle: withDefault(
      duration('1s', '1d', 'A connection without calls is closed after it.'),
      '10m',
    ),
  }),
  upload: section('How clients upload.', {
    partSize: withDefault(
      size(
        '1MiB',
        '512MiB',
        'Size of a file’s first part. The next ones double until they are eight times as large, later ones grow so that the store’s number of parts is enough.',
      ),
      '8MiB',
    ),
    inlineLimit: withDefault(
      size(
        '0B',
        '1MiB',
        'Largest file whose bytes travel with CommitTask and are put at the commit; 0B: none.',
      ),
      '16KiB',
    ),
    urlTtl: withDefault(duration('30s', '15m', 'How long a presigned part URL is valid.'), '15m'),
  }),
  retry: section('Repeating a store request that failed for a moment. Nothing else repeats it.', {
    attempts: withDefault(integer(1, 100, 'Attempts at one request, the first included.'), '8'),
    baseDelay: withDefault(
      duration('1ms', '1m', 'Longest wait before the second attempt; it doubles.'),
      '100ms',
    ),
    maxDelay: withDefault(duration('1ms', '10m', 'Longest wait between two attempts.'), '10s'),
    patience: withDefault(
      duration(
        '0s',
        '1d',
        'How long the Completes of a CommitJob are repeated, beyond `attempts`, while the store throttles or gives no ' +
          'answer. Calls that a task waits for never take that long.',
      ),
      '5m',
    ),
  }),
  timeouts: section('How long a store request may take.', {
    connect: withDefault(duration('100ms', '1m', 'Opening a connection.'), '5s'),
    request: withDefault(duration('1s', '45s', 'One request. The protocol counts on 45s at most.'), '30s'),
    complete: withDefault(
      duration('1s', '1h', 'CompleteMultipartUpload, which may be slow for large files.'),
      '5m',
    ),
  }),
  drain: section('What happens at SIGTERM.', {
    notice: withDefault(
      duration('0s', '10m', 'Time between health saying NOT_SERVING and new calls being refused.'),
      '5s',
    ),
    grace: withDefault(duration('0s', '1h', 'Time for running calls to end after that.'), '30s'),
  }),
  health: section('Readiness.', {
    interval: withDefault(duration('1s', '1h', 'How often the stores are asked whether they answer.'), '30s'),
  }),
  reflection: withDefault(flag('Serve gRPC reflection, so that grpcurl works without the protos.'), 'true'),
  cleanup: section('Removing the state of jobs that ended.', {
    enabled: withDefault(flag('Remove task records in the background when a job has ended.'), 'true'),
    ttl: withDefault(
      duration('1m', '365d', 'How long the decision of an ended job is kept for late calls.'),
      '7d',
    ),
    listing: withDefault(
      oneOf(
        ['never', 'exclusive'],
        'With `exclusive` AbortJob aborts every open upload under the destination, whoever opened it: only where ' +
          'nobody else writes there, no second job either.',
      ),
      'never',
    ),
  }),
});

export type SchemaValues = Infer<typeof schema>;
