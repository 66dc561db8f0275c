export { installS3Proxy, startS3Proxy, type S3ProxyOptions } from './s3proxy.js';
export { installVersityGw, startVersityGw } from './versitygw.js';
export { freePort, s3Client, type S3Access, type S3Server, type S3ServerOptions } from './s3-server.js';
export { ManagedChild } from './child-process.js';
export { installOnce } from './install-once.js';
export { installVenv } from './python-venv.js';
export { cacheDir, repoRoot } from './paths.js';
export { missingTool, runTool } from './run-tool.js';
