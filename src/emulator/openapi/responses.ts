import { type JsonSchema, ref, text } from '../input/json-schema.ts';

interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

function header(description: string, { required = true } = {}): Header {
  return { description, required, schema: text };
}

const REQUEST_ID = { 'x-request-id': header('Identifies the request; a refusal repeats it as requestId.') };

/** Additional headers by status. */
const HEADERS: Readonly<Record<string, Readonly<Record<string, Header>>>> = {
  308: { location: header('The address of the same response, on the same host.') },
  401: { 'www-authenticate': header('The scheme, Bearer.') },
  405: { allow: header('The method that is allowed.') },
  429: {
    // The specification does not show the rate limits, so it may be missing.
    'retry-after': header('Seconds, or an HTTP date, until the next request is allowed.', {
      required: false,
    }),
  },
};

/** Describes a response with its headers and a JSON body. */
export function response(status: number, description: string, schema: JsonSchema, more: object = {}): object {
  const headers = { ...REQUEST_ID, ...HEADERS[status] };
  return { description, headers, content: { 'application/json': { schema } }, ...more };
}

/** Describes refusals by status, all with the same body. */
export function refusals(
  descriptions: Readonly<Record<string, string>>,
  problem: string,
): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(descriptions).map(([status, description]) => [
      status,
      response(Number(status), description, ref(problem)),
    ]),
  );
}
