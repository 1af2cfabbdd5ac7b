import { dirname, resolve } from 'node:path';
import { messageOf, UsageError } from '../../core/errors.ts';
import { type BoundedFileKind, readBoundedFile } from '../bounded-file.ts';
import { readKeyFile } from '../key-file.ts';
import { parseApiKey } from '../parsers/secret.ts';
import type { DeclaredOrganization } from './parse-entry.ts';
import { parseOrganizations } from './parse-organizations.ts';

const FILE: BoundedFileKind = {
  noun: 'organizations file',
  holds: 'a JSON list of organizations',
  bytesMax: 1024 * 1024,
};

/** An organization of the organizations file, with its keys. */
export interface NamedOrganization {
  readonly name: string;
  /** Origins; null for the ones of the settings. */
  readonly baseUrl: string | null;
  readonly appUrl: string | null;
  /** Absolute path. */
  readonly apiKeyFile: string;
  readonly apiKey: string | null;
  /** The credential of its application host; null if it is the same. */
  readonly appApiKey: string | null;
  /** Why its keys cannot be used; null if they can. It concerns this organization alone. */
  readonly problem: UsageError | null;
}

/** The organizations file, read. */
export interface OrganizationsFile {
  /** Absolute path. */
  readonly path: string;
  readonly organizations: readonly NamedOrganization[];
  /** Key files that other users can read. */
  readonly exposedKeyFiles: readonly string[];
}

/**
 * Reads the organizations file, and the key files that it names unless `withKeys` is false. A key file that cannot be used
 * is the problem of its organization alone.
 * @throws {UsageError} if the organizations file cannot be read, or has a mistake
 */
export function readOrganizations(path: string, { withKeys }: { withKeys: boolean }): OrganizationsFile {
  const declared = parseOrganizations(readText(path));
  const exposed = new Set<string>();
  const organizations = declared.map((entry) =>
    withKeys ? withKeysOf(entry, dirname(path), exposed) : withoutKeys(entry, dirname(path)),
  );
  return { path, organizations, exposedKeyFiles: [...exposed] };
}

function readText(path: string): string {
  try {
    const { bytes } = readBoundedFile(path, FILE);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`read ${path}: ${messageOf(error)}`, {
      cause: error,
      hint: 'give the path of a JSON file in UTF-8 that this user may read',
    });
  }
}

function withoutKeys(entry: DeclaredOrganization, folder: string): NamedOrganization {
  const { name, baseUrl, appUrl } = entry;
  const apiKeyFile = resolve(folder, entry.apiKeyFile);
  return { name, baseUrl, appUrl, apiKeyFile, apiKey: null, appApiKey: null, problem: null };
}

function withKeysOf(entry: DeclaredOrganization, folder: string, exposed: Set<string>): NamedOrganization {
  const bare = withoutKeys(entry, folder);
  try {
    const apiKey = readKey(bare.apiKeyFile, exposed);
    const { appApiKeyFile } = entry;
    const appApiKey = appApiKeyFile === null ? null : readKey(resolve(folder, appApiKeyFile), exposed);
    return { ...bare, apiKey, appApiKey };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...bare, problem: error };
  }
}

function readKey(path: string, exposed: Set<string>): string {
  const { text, readableByOthers } = readKeyFile(path);
  if (readableByOthers) exposed.add(path);
  try {
    return parseApiKey(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`the key file ${path}: ${error.message}`, { cause: error, hint: error.hint });
  }
}
