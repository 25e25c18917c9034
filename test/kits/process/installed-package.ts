import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Ran, type RunOptions, run } from './run-command.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** A package of `packages/`, packed and installed into an empty project as from a registry, but without one. */
export function installPackage(name: 'client' | 'policy') {
  const project = mkdtempSync(path.join(tmpdir(), `mesh-${name}-`));
  const npm = (args: readonly string[], cwd: string) => execFileSync('npm', args, { cwd, stdio: 'pipe' });
  npm(['pack', '--silent', '--pack-destination', project], path.join(ROOT, 'packages', name));
  const [archive = ''] = readdirSync(project);
  writeFileSync(path.join(project, 'package.json'), '{ "private": true, "type": "module" }');
  npm(['install', '--offline', '--no-audit', '--no-fund', archive], project);
  const write = (file: string, text: string) => writeFileSync(path.join(project, file), text);

  return {
    project,
    modules: path.join(project, 'node_modules'),
    /** What `npm install` brought, but for what it notes for itself. */
    dependencies: () => readdirSync(path.join(project, 'node_modules/@scope')),
    write,
    /** Has the compiler judge a program by the declarations of the package alone, and these too. */
    checkTypes(program: string): Promise<Ran> {
      write('program.mts', program);
      const options = '--ignoreConfig --noEmit --strict --module nodenext --target esnext --lib esnext,dom';
      const tsc = path.join(ROOT, 'node_modules/.bin/tsc');
      return run(tsc, [...options.split(' '), '--types', '', path.join(project, 'program.mts')]);
    },
    run(program: string, options: RunOptions = {}): Promise<Ran> {
      write('program.mjs', program);
      // In the project, where the program looks for its files.
      const script = `cd "$1" && exec "$2" program.mjs`;
      return run('sh', ['-c', script, 'sh', project, process.execPath], options);
    },
    [Symbol.dispose]: () => rmSync(project, { recursive: true, force: true }),
  };
}

export type InstalledPackage = ReturnType<typeof installPackage>;
