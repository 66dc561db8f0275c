// The double of OSS as a process of its own, for clients in other languages and for benchmarks. Its options are the
// first argument, as JSON; it writes one line that says where it listens.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { OssDouble, type OssDoubleOptions } from './oss-double.js';

const double = await OssDouble.start(JSON.parse(process.argv[2] ?? '{}') as OssDoubleOptions);

/** What a test asks the process itself, apart from OSS's own calls. */
const control = http.createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://control');
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /counts':
      response.end(JSON.stringify(double.counts({}, Number(url.searchParams.get('since') ?? 0))));
      return;
    case 'GET /last-seq':
      response.end(String(double.lastSeq));
      return;
    case 'PUT /latency':
      double.latencyMs = Number(url.searchParams.get('ms'));
      response.end();
      return;
    default:
      response.writeHead(404).end();
  }
});
control.listen(0, '127.0.0.1');
await once(control, 'listening');

const { endpoint, port, region, accessKey } = double;
const controlPort = (control.address() as AddressInfo).port;
process.stdout.write(`${JSON.stringify({ endpoint, port, region, accessKey, controlPort })}\n`);
