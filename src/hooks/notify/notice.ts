/** A notification that is on its way: everything that delivering it takes. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly desktop: boolean;
  /** Address and body of a webhook; null without one. */
  readonly webhook: { readonly url: string; readonly body: string } | null;
  readonly timeoutMs: number;
}
