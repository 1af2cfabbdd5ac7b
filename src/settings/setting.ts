/** One setting, declared once: flags, help, `daywalk config`, `.env.example` and the documentation come from it. */
export interface Setting<Value = unknown, Fallback = unknown> {
  /** Name of the environment variable; the same name works in a `.env` file. */
  readonly env: `DAYWALK_${string}` | 'HTTPS_PROXY' | 'HTTP_PROXY' | 'NO_PROXY';
  /** Name of the flag; null where the command line would show a secret or make no sense. */
  readonly flag: `--${string}` | null;
  /** What stands for the value in help, without brackets. */
  readonly placeholder: string;
  /** What it does, in one line. */
  readonly doc: string;
  /** Value when it is given nowhere; null leaves it unset. */
  readonly fallback: Fallback;
  /** The default in words, where it is not just the value. */
  readonly fallbackDoc?: string;
  /** True when no output may ever show the value. */
  readonly secret: boolean;
  /** False where `.env` has no say, because the command runs in folders that may be anybody's. */
  readonly isInDotenv?: boolean;
  /** An example value for `.env.example`, where the default is none. */
  readonly example?: string;
  /**
   * The value that a text stands for.
   * @throws {UsageError} with the reason alone; the reader adds where the text came from.
   */
  readonly parse: (text: string) => Value;
  /** The value as it may be shown. */
  readonly show: (value: Value) => string;
}

/** Any setting. `never` in the position of the value makes every `show` fit. */
export type AnySetting = Omit<Setting, 'show'> & { readonly show: (value: never) => string };

/** Completes a declaration: not secret, shown as text, unset by default. */
export function setting<Value, const Fallback extends Value | null>(
  spec: Pick<Setting, 'env' | 'flag' | 'placeholder' | 'doc'> & {
    readonly parse: (text: string) => Value;
    readonly fallback: Fallback;
    readonly fallbackDoc?: string;
    readonly secret?: boolean;
    readonly isInDotenv?: boolean;
    readonly example?: string;
    readonly show?: (value: Value) => string;
  },
): Setting<Value, Fallback> {
  return { secret: false, show: String, ...spec };
}
