/**
 * True if a flag, or without a flag the environment, selects JSON logs. Reads the unparsed arguments, so that an error of
 * the parser is reported in the right format.
 */
export function asksForJsonLog(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const given = argv.flatMap((argument, index) => {
    if (argument === '--log') return [argv[index + 1]];
    return argument.startsWith('--log=') ? [argument.slice('--log='.length)] : [];
  });
  return (given.at(-1) ?? env['DAYWALK_LOG']) === 'json';
}
