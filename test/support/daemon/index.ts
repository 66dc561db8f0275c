export { DaemonProcess, type DaemonProcessOptions } from './daemon-process.js';
