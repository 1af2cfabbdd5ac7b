import { DaywalkError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { findSecret } from '../audience/find-secret.ts';
import type { Secrets } from '../audience/secrets.ts';

/** A report holds what its audience must not see. Exit code 1: the pages should have left it out. Nothing was written. */
export class SecretFoundError extends DaywalkError {
  constructor(name: string, kind: string) {
    super(`${name} holds ${kind}, which its readers must not see; it was not written`, {
      exitCode: EXIT.defect,
      effect: 'run',
      hint: 'if a team, tool, skill or server is named after a person, rename it or write the report for managers; otherwise this is a defect, please report it',
    });
  }
}

/**
 * The last check before a document is written.
 * @throws {SecretFoundError} if it holds what its readers must not see.
 */
export function expectNoSecret(
  documents: readonly { readonly name: string; readonly text: string }[],
  secrets: readonly Secrets[],
): void {
  for (const { name, text } of documents) {
    const found = findSecret(text, secrets);
    if (found !== null) throw new SecretFoundError(name, found.kind);
  }
}
