/**
 * True where a command line, or the environment, asks for logs as JSON. Looks at the arguments as they came, so that it can
 * be told of one that cannot be read; a flag wins over the environment.
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
