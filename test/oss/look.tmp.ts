import { OssReader } from '/tmp/wt/oss2b/test/support/oss-double/index.js';
const e = process.env;
const reader = new OssReader({ endpoint: e.COMMITBRIDGE_OSS_ENDPOINT!, region: e.COMMITBRIDGE_OSS_REGION!, accessKey: e.OSS_ACCESS_KEY_ID!, secretKey: e.OSS_ACCESS_KEY_SECRET! }, 'real');
console.log('LEFT', JSON.stringify(await reader.listObjects()), JSON.stringify(await reader.listUploads()));
