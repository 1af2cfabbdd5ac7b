import { STATUS_CODES } from 'node:http';

/** The HTTP title of a status. */
export function titleOf(status: number): string {
  return STATUS_CODES[status] ?? 'Unknown';
}

/** A request that the service refuses. It becomes the error body of the specification, section 2.6. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Facts about the refusal, which only the session endpoint shows. */
  readonly metadata: object | undefined;

  constructor(
    status: number,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
    metadata?: object,
  ) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.metadata = metadata;
  }
}
