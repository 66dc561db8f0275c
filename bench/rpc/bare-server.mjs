// A server of grpc-js that answers at once, or after some time in place of a store's: what gRPC itself takes. Arguments:
// the addresses, with commas between, and the milliseconds of CommitTask.
import process from 'node:process';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { serviceDefinition } from '../../dist/rpc/proto.js';

const [addresses = '', ms] = process.argv.slice(2);
const server = new Server();
server.addService(serviceDefinition('commitbridge.v1.JobService'), {
  SetupTask: (_call, callback) => callback(null, {}),
  CommitTask: (call, callback) => {
    call.on('data', () => undefined);
    call.on('end', () => setTimeout(() => callback(null, {}), Number(ms)));
  },
});
const ports = [];
for (const address of addresses.split(',')) ports.push(await bind(address));
process.stdout.write(`${ports.join(' ')}\n`);

function bind(address) {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}
