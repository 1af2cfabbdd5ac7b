/**
 * True when a flag or else the environment requests logs as JSON. Works on unparsed arguments, so that the failure to
 * parse them can be reported in the right format.
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
