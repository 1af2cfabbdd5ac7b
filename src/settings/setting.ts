/** One setting. Flags, help, `daywalk config`, `.env.example` and the documentation are generated from it. */
export interface Setting<Value = unknown, Fallback = unknown> {
  /** Name of the environment variable; the same name works in a `.env` file. */
  readonly env: `DAYWALK_${string}` | 'HTTPS_PROXY' | 'HTTP_PROXY' | 'NO_PROXY';
  /** Name of the flag; null if the value is a secret or the setting makes no sense on the command line. */
  readonly flag: `--${string}` | null;
  /** Placeholder for the value in help, without brackets. */
  readonly placeholder: string;
  /** Describes the setting in one line. */
  readonly doc: string;
  /** Default value; null leaves the setting unset. */
  readonly fallback: Fallback;
  /** The default in words, if the value does not explain itself. */
  readonly fallbackDoc?: string;
  /** True if no output may ever show the value. */
  readonly secret: boolean;
  /** False if `.env` is ignored, because the command runs in folders that other people may control. */
  readonly isInDotenv?: boolean;
  /** True if the flag may be given several times; its values are joined by commas. */
  readonly isRepeatable?: boolean;
  /** An example value for `.env.example`, if there is no default. */
  readonly example?: string;
  /**
   * Parses the text of the setting.
   * @throws {UsageError} with only the reason; the reader adds the source of the text.
   */
  readonly parse: (text: string) => Value;
  /** Formats the value for output. */
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
    readonly isRepeatable?: boolean;
    readonly example?: string;
    readonly show?: (value: Value) => string;
  },
): Setting<Value, Fallback> {
  return { secret: false, show: String, ...spec };
}
