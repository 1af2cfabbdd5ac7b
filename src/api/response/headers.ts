/** Header values as undici gives them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The value of a header; the first one if it is repeated. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
