import type { AppContext } from '../app/context.js';
import { serverInfo } from '../app/server-info.js';
import type { AdminServiceHandlers } from './generated/commitbridge/v1/AdminService.js';
import { unary } from './handler.js';

const wirePlanes = { direct: 'DATA_PLANE_DIRECT', inline: 'DATA_PLANE_INLINE' } as const;

export function adminService(ctx: AppContext): AdminServiceHandlers {
  return {
    GetServerInfo: unary(ctx.logger, ({ destination }, { principal }) => {
      const info = serverInfo(ctx, destination, principal);
      return {
        version: info.version,
        minProtocolVersion: info.protocolVersion.min,
        maxProtocolVersion: info.protocolVersion.max,
        dataPlanes: info.dataPlanes.map((plane) => wirePlanes[plane]),
        limits: info.limits,
      };
    }),
  };
}
