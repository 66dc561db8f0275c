import { WinstonLogger } from '../observability/winston-logger.js';
import type { Config } from '../config/config.js';

/** The process's logger. Node's own warnings go through it too, so that stderr holds one JSON object a line. */
export function openLogger(config: Config): WinstonLogger {
  const logger = WinstonLogger.create({ level: config.log.level });
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    logger.warn('warning of the runtime', { name, text: message });
  });
  return logger;
}
