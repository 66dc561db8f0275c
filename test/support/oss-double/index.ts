export { OssDouble, type DoubleIntervention, type OssDoubleOptions } from './oss-double.js';
export { ossErrorBody } from './error-reply.js';
export type { AccessKey, TemporaryCredentials } from './credentials.js';
export type { QpsLimits } from './throttle.js';
export { OssDoubleProcess, type OssDoubleProcessOptions } from './oss-double-process.js';
export { OssReader } from './oss-reader.js';
export { loopback, putSigned } from './loopback.js';
