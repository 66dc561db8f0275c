import { randomUUID } from 'node:crypto';
import { OssObjectStore } from '../../src/adapters/oss/oss-object-store.js';
import type { OssStoreOptions } from '../../src/adapters/oss/oss-options.js';
import { SystemClock } from '../../src/adapters/system/clock.js';
import type { S3Access } from '../support/servers/index.js';

type StaticOptions = OssStoreOptions & { readonly credentials: { readonly kind: 'static' } };

/** The bucket that the environment names, and a prefix in it that is this run's own. */
export interface RealBucket {
  readonly bucket: string;
  /** Ends in `/`. */
  readonly prefix: string;
  readonly options: StaticOptions;
  readonly isPathStyle: boolean;
  readonly access: S3Access;
}

export function realBucket(): RealBucket {
  const isPathStyle = process.env['COMMITBRIDGE_TEST_OSS_PATH_STYLE'] === 'true';
  const [bucket, region] = [
    variable('COMMITBRIDGE_TEST_OSS_BUCKET'),
    variable('COMMITBRIDGE_TEST_OSS_REGION'),
  ];
  const endpoint = process.env['COMMITBRIDGE_TEST_OSS_ENDPOINT'] ?? `https://oss-${region}.aliyuncs.com`;
  const securityToken = process.env['OSS_SESSION_TOKEN'];
  const [accessKeyId, accessKeySecret] = [variable('OSS_ACCESS_KEY_ID'), variable('OSS_ACCESS_KEY_SECRET')];
  return {
    bucket,
    isPathStyle,
    prefix: `commitbridge-test-${randomUUID()}/`,
    options: {
      ...{ region, endpoint, addressing: isPathStyle ? 'path' : 'virtual-host' },
      credentials: {
        ...{ kind: 'static', accessKeyId, accessKeySecret },
        ...(securityToken === undefined ? {} : { securityToken }),
      },
    },
    access: { endpoint, region, accessKey: accessKeyId, secretKey: accessKeySecret },
  };
}

/** Removes what this run made, and nothing else: by its prefix. */
export async function cleanUp({ bucket, prefix, options }: RealBucket): Promise<void> {
  const store = new OssObjectStore(options, new SystemClock());
  for (;;) {
    const { uploads } = await store.listUploads(bucket, prefix, {});
    for (const { key, uploadId } of uploads) await store.abort({ bucket, key, uploadId });
    const { objects } = await store.list(bucket, prefix, {});
    await store.deleteMany(
      bucket,
      objects.map(({ key }) => key),
    );
    if (uploads.length + objects.length === 0) break;
  }
  await store.close();
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set: see docs/oss.md, "Real OSS"`);
  return value;
}
