// Original file: proto/commitbridge/v1/admin_service.proto


export interface GetServerInfoRequest {
  'destination'?: (string);
}

export interface GetServerInfoRequest__Output {
  'destination': (string);
}
