import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { S3ObjectStore } from '../../src/adapters/s3/s3-object-store.js';
import type { S3StoreOptions } from '../../src/adapters/s3/s3-options.js';
import { S3_CAPABILITIES } from '../../src/adapters/s3/s3-options.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import type { StoreCapabilities } from '../../src/ports/object-store.js';
import type { S3Access } from '../support/servers/s3-server.js';
import type { ConformanceTarget, KnownGaps, RunningTarget } from './conformance-target.js';
import { putByFetch } from './put-by-fetch.js';

/** Where nobody listens: the discard port. */
const NOBODY = 'http://127.0.0.1:9';

/** The s3 adapter against a server that a launcher starts. */
export function s3Target(options: {
  readonly name: string;
  readonly capabilities?: Partial<StoreCapabilities>;
  readonly knownGaps?: KnownGaps;
  readonly launch: () => Promise<S3Access & { stop(): Promise<void> }>;
}): ConformanceTarget {
  const { name, capabilities = {}, knownGaps = {}, launch } = options;
  return {
    name,
    capabilities: { ...S3_CAPABILITIES, ...capabilities },
    knownGaps,
    start: async (): Promise<RunningTarget> => {
      const server = await launch();
      const bucket = 'conformance';
      await createBucket(server, bucket);
      const storeOf = (changes: Partial<S3StoreOptions> = {}): S3ObjectStore =>
        new S3ObjectStore({ ...optionsFor(server), capabilities, ...changes }, new SystemClock());
      const stores = {
        store: storeOf(),
        wrongSecret: storeOf({
          credentials: { kind: 'static', accessKeyId: server.accessKey, secretAccessKey: 'wrong-secret' },
        }),
        unknownKey: storeOf({
          credentials: { kind: 'static', accessKeyId: 'NOBODY', secretAccessKey: server.secretKey },
        }),
        unreachable: storeOf({ endpoint: NOBODY }),
      };
      const { store, wrongSecret, unknownKey, unreachable } = stores;
      return {
        store,
        bucket,
        refused: { wrongSecret, unknownKey },
        unreachable,
        putSigned: putByFetch,
        stop: async () => {
          await Promise.all(Object.values(stores).map((each) => each.close()));
          await server.stop();
        },
      };
    },
  };
}

function optionsFor({ endpoint, region, accessKey, secretKey }: S3Access): S3StoreOptions {
  return {
    endpoint,
    region,
    pathStyle: true,
    credentials: { kind: 'static', accessKeyId: accessKey, secretAccessKey: secretKey },
  };
}

async function createBucket(server: S3Access, bucket: string): Promise<void> {
  const client = new S3Client({
    endpoint: server.endpoint,
    region: server.region,
    forcePathStyle: true,
    credentials: { accessKeyId: server.accessKey, secretAccessKey: server.secretKey },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
}
