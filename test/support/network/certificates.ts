import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../suite/temp-dir.ts';

/** A key and a certificate, and the path of the certificate. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  readonly certPath: string;
}

/** Creates a key and a self-signed certificate; null if this machine has no openssl. */
export function selfSigned(name: string, altNames = 'IP:127.0.0.1'): Certificate | null {
  const folder = tempDir();
  const [keyPath, certPath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${altNames}`, '-days', '2'];
  try {
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', [...args, '-keyout', keyPath, '-out', certPath, ...subject], { stdio: 'ignore' });
  } catch {
    return null;
  }
  return { key: readFileSync(keyPath, 'utf8'), cert: readFileSync(certPath, 'utf8'), certPath };
}
