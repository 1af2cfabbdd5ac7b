/** An answer of the server before it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An HTML document. */
export function htmlAnswer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, body, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } };
}

/** Sends the browser to another path, with a GET. */
export function redirect(path: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 303, body: '', headers: { location: path, ...headers } };
}

/** The answer as the server library takes it. */
export function responseOf({ status, body, headers }: Answer): Response {
  return new Response(status === 303 || status === 304 ? null : body, { status, headers: { ...headers } });
}
