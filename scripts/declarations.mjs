// The declarations of the entries, each in one file.
//
// The installed compiler has no JavaScript interface, so this uses a tool that brings a compiler of its own. It takes longer
// than the rest of the build; the files of an earlier build are used again if no declaration has changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { manifest, root } from './bundling.mjs';

const COMPILER_OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  types: ['node'],
};
/** Names the declarations that a file was made of, in its last line. */
const MADE_OF = '// made of ';

/**
 * Writes the declarations of each entry into one file of a build.
 * @param part the folder of the build
 * @param entries paths without extension, from the root
 * @throws {Error} if the sources have an error of types, or a declaration is missing
 */
export async function writeDeclarations(part, entries) {
  const folder = join(part, 'declarations');
  compile(folder);
  const version = hashOf(folder);
  const stale = entries.filter((entry) => !useAgain(part, entry, version));
  if (stale.length > 0) await rollUp(part, stale, { folder, version });
  rmSync(folder, { recursive: true });
}

function compile(folder) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', folder], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status === 0) return;
  process.exitCode = status ?? 1;
  throw new Error('the declarations could not be generated; dist/ is unchanged');
}

/** Hash of all declarations, and of the tool. */
function hashOf(folder) {
  const hash = createHash('sha256').update(manifest.devDependencies['@microsoft/api-extractor']);
  hash.update(readFileSync(import.meta.filename));
  for (const path of globSync('**/*.d.ts', { cwd: folder }).toSorted())
    hash.update(`${path}\0`).update(readFileSync(join(folder, path)));
  return hash.digest('hex');
}

function useAgain(part, entry, version) {
  const earlier = join(root, 'dist', `${entry}.d.ts`);
  const text = existsSync(earlier) ? readFileSync(earlier, 'utf8') : '';
  if (!text.endsWith(`${MADE_OF}${version}\n`)) return false;
  writeFileSync(join(part, `${entry}.d.ts`), text);
  return true;
}

async function rollUp(part, entries, { folder, version }) {
  const { CompilerState, Extractor } = await import('@microsoft/api-extractor');
  const declared = entries.map((entry) => join(folder, `${entry}.d.ts`));
  let compilerState;
  for (const [index, entry] of entries.entries()) {
    const file = join(part, `${entry}.d.ts`);
    const config = await extractorConfig(declared[index], file, declared);
    compilerState ??= CompilerState.create(config, { additionalEntryPoints: declared });
    const { succeeded } = Extractor.invoke(config, {
      compilerState,
      localBuild: true,
      messageCallback: (message) => {
        // Its greeting, and that its compiler is not the newest.
        message.handled = message.logLevel !== 'error';
      },
    });
    if (!succeeded) throw new Error(`the declarations of ${entry} could not be rolled up`);
    writeFileSync(file, `${await withoutShapes(file)}\n${MADE_OF}${version}\n`);
  }
}

async function extractorConfig(entry, file, files) {
  const { ExtractorConfig } = await import('@microsoft/api-extractor');
  const none = { default: { logLevel: 'none' } };
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entry,
      compiler: {
        overrideTsconfig: {
          compilerOptions: { ...COMPILER_OPTIONS, module: 'nodenext', target: 'es2024' },
          files,
        },
      },
      apiReport: { enabled: false },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: file },
      messages: {
        compilerMessageReporting: { default: { logLevel: 'error' } },
        extractorMessageReporting: none,
        tsdocMessageReporting: none,
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });
}

/**
 * Writes the types of rows out. They derive from shapes, which are values of the same name with the types of a library; the
 * code exports no shape, so an import of one would compile, and fail when it runs. Without the shapes, no library is named.
 */
async function withoutShapes(file) {
  const ts = createRequire(import.meta.resolve('@microsoft/api-extractor'))('typescript');
  const [module, target] = [ts.ModuleKind.NodeNext, ts.ScriptTarget.ES2024];
  const program = ts.createProgram([file], { ...COMPILER_OPTIONS, module, target });
  const checker = program.getTypeChecker();
  const { statements, text } = program.getSourceFile(file);
  const { InTypeAlias, MultilineObjectLiterals, NoTruncation } = ts.NodeBuilderFlags;
  const flags = InTypeAlias | MultilineObjectLiterals | NoTruncation;
  const written = (node) => {
    const type = checker.typeToTypeNode(checker.getTypeFromTypeNode(node), node, flags);
    return ts.createPrinter().printNode(ts.EmitHint.Unspecified, type, node.getSourceFile());
  };
  const derived = (node) =>
    ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Static'
      ? [node]
      : node.getChildren().flatMap(derived);
  const isShape = (node) => ts.isVariableStatement(node) && /\bType\.T/.test(node.getText());
  const isImport = (node) => ts.isImportDeclaration(node) && node.moduleSpecifier.text === 'typebox';
  const comments = new Map(
    statements.filter(isShape).map((shape) => {
      const [{ name }] = shape.declarationList.declarations;
      return [name.text, text.slice(shape.getFullStart(), shape.getStart()).trim()];
    }),
  );
  const parts = statements.flatMap((statement) => {
    if (isShape(statement) || isImport(statement)) return [];
    let [from, part] = [statement.getStart(), ''];
    for (const node of derived(statement)) {
      part += text.slice(from, node.getStart()) + written(node);
      from = node.end;
    }
    const comment = text.slice(statement.getFullStart(), statement.getStart()).trim();
    return [
      `${comment || (comments.get(statement.name?.text) ?? '')}\n${part}${text.slice(from, statement.end)}\n`,
    ];
  });
  const result = parts.join('\n');
  if (/\bType\.T|\bStatic</.test(result)) throw new Error(`${file} still names a shape`);
  return result;
}
