// Original file: proto/commitbridge/v1/admin_service.proto

export const DataPlane = {
  DATA_PLANE_UNSPECIFIED: 'DATA_PLANE_UNSPECIFIED',
  DATA_PLANE_DIRECT: 'DATA_PLANE_DIRECT',
  DATA_PLANE_STREAM: 'DATA_PLANE_STREAM',
  DATA_PLANE_LOCAL: 'DATA_PLANE_LOCAL',
  DATA_PLANE_INLINE: 'DATA_PLANE_INLINE',
} as const;

export type DataPlane =
  | 'DATA_PLANE_UNSPECIFIED'
  | 0
  | 'DATA_PLANE_DIRECT'
  | 1
  | 'DATA_PLANE_STREAM'
  | 2
  | 'DATA_PLANE_LOCAL'
  | 3
  | 'DATA_PLANE_INLINE'
  | 4

export type DataPlane__Output = typeof DataPlane[keyof typeof DataPlane]
