// A loop over the AWS SDK for JavaScript that does nothing but complete uploads: bucket, key and upload id come on
// stdin, a line each, with tabs between.
import { readFileSync } from 'node:fs';
import { CompleteMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';

const [endpoint, concurrency] = [process.argv[2], Number(process.argv[3])];
const agent = { keepAlive: true, maxSockets: concurrency };
const client = new S3Client({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench-secret' },
  forcePathStyle: true,
  maxAttempts: 1,
  requestHandler: { httpAgent: agent, httpsAgent: agent },
});
const lines = readFileSync(0, 'utf8').trimEnd().split('\n');
const cpu = process.cpuUsage();
const started = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    while (next < lines.length) {
      const [Bucket, Key, UploadId] = lines[next++].split('\t');
      await client.send(
        new CompleteMultipartUploadCommand({
          ...{ Bucket, Key, UploadId, IfNoneMatch: '*' },
          MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '"e"' }] },
        }),
      );
    }
  }),
);
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpu_s: (user + system) / 1e6 }));
