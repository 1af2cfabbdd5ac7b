import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../suite/temp-dir.ts';

/** A key and a certificate, and the path of the certificate. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  readonly certPath: string;
}

/** Creates a key and a self-signed certificate, which may have expired years ago; null if this machine has no openssl. */
export function selfSigned(
  name: string,
  altNames = 'IP:127.0.0.1',
  { isExpired = false }: { readonly isExpired?: boolean } = {},
): Certificate | null {
  const folder = tempDir();
  const [keyPath, certPath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${altNames}`, '-days', '2'];
  try {
    const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    execFileSync('openssl', [...args, '-keyout', keyPath, '-out', certPath, ...subject], { stdio: 'ignore' });
    if (isExpired) expire(folder, keyPath, certPath);
  } catch {
    return null;
  }
  return { key: readFileSync(keyPath, 'utf8'), cert: readFileSync(certPath, 'utf8'), certPath };
}

/** Signs a certificate again with dates of the past, which only `openssl ca` takes in every version. */
function expire(folder: string, keyPath: string, certPath: string): void {
  const at = (file: string) => join(folder, file);
  writeFileSync(at('index'), '');
  writeFileSync(
    at('ca.conf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${at('index')}\nnew_certs_dir=${folder}\nrand_serial=yes\n` +
      'default_md=sha256\npolicy=any\ncopy_extensions=copy\n[any]\ncommonName=supplied\n',
  );
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  openssl(
    'x509',
    '-x509toreq',
    '-copy_extensions',
    'copyall',
    '-in',
    certPath,
    '-signkey',
    keyPath,
    '-out',
    at('again.csr'),
  );
  const dates = ['-startdate', '20200101000000Z', '-enddate', '20200201000000Z'];
  const files = ['-config', at('ca.conf'), '-keyfile', keyPath, '-in', at('again.csr'), '-out', certPath];
  openssl('ca', '-batch', '-selfsign', '-notext', ...dates, ...files);
}
