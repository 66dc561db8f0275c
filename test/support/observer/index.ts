export { Observer, type ObserverOptions } from './observer.js';
export { classifyRequest, requestKinds, type ClassifiedRequest, type RequestKind } from './request-kind.js';
export { countByKind, type ObservedRequest, type RequestCounts } from './observed-request.js';
export { RequestLog, type Tagger } from './request-log.js';
export { errorBody, Hold, Rule, type Intervention, type RequestMatch, type Verdict } from './rules.js';
export { StoreReader } from './store-reader.js';
export { TableReader, type ListedObject, type ListedUpload } from './table-reader.js';
export { settle } from './settle.js';
