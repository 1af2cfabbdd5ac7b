export { type ApiRequest, type Deadline, deadlineOf, splitOrigin } from './api-request.ts';
export { openConnection, type ProxyOptions, type RequestDispatcher } from './connections.ts';
export {
  ApiError,
  BadRequestError,
  CredentialError,
  OverloadError,
  RequestError,
  UnknownOutcomeError,
  type Unreached,
} from './errors.ts';
export { exchange } from './exchange.ts';
export { type Answer, parseHttpDate } from './response.ts';
export {
  type CallOptions,
  createTransport,
  type Meter,
  type RequestStart,
  type ResponseStart,
  type Retry,
  type Transport,
  type TransportOptions,
} from './transport.ts';
