import { packageVersion } from '../core/package.ts';

/** The name and version of this program and of Node: `daywalk 0.1.0 (node v20.19.0)`. */
export function versionText(): string {
  return `daywalk ${packageVersion()} (node ${process.version})`;
}
