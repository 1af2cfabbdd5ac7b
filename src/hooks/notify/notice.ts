/** A notification to deliver. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly desktop: boolean;
  /** URL and body of the webhook call; null for none. */
  readonly webhook: { readonly url: string; readonly body: string } | null;
  readonly timeoutMs: number;
}
