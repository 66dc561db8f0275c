// A loop over the AWS SDK for JavaScript that does nothing but complete uploads: bucket, key and upload id come on
// stdin, a line each, with tabs between. The first of them aren't measured.
import { readFileSync } from 'node:fs';
import { CompleteMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';

const [endpoint, concurrency, warmUp] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
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
await complete(lines.slice(0, warmUp));
const cpu = process.cpuUsage();
const started = performance.now();
await complete(lines.slice(warmUp));
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpu_s: (user + system) / 1e6 }));

async function complete(uploads) {
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < uploads.length) {
        const [Bucket, Key, UploadId] = uploads[next++].split('\t');
        await client.send(
          new CompleteMultipartUploadCommand({
            ...{ Bucket, Key, UploadId, IfNoneMatch: '*' },
            MultipartUpload: { Parts: [{ PartNumber: 1, ETag: '"e"' }] },
          }),
        );
      }
    }),
  );
}
