/** Header values as undici hands them out. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header; the first one where it is repeated. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
