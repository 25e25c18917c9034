import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MeshError } from '../../core/base/errors.ts';

const BESIDE = new URL(`../../native/netstack/netstack-${process.platform}-${process.arch}`, import.meta.url);

/**
 * Returns the program that is the stack; undefined for the WebAssembly.
 *
 * @param choice `wasm`, `native` for the program beside the WebAssembly, or the path of one
 * @throws MeshError `invalid_input` for another choice, or where the program is missing
 */
export function stackProgram(choice = 'wasm'): string | undefined {
  if (choice === 'wasm') return undefined;
  if (choice !== 'native' && !choice.includes('/')) {
    throw new MeshError(
      'invalid_input',
      `MESH_NETSTACK is "${choice}": set it to wasm, native or the path of a program.`,
    );
  }
  const file = choice === 'native' ? fileURLToPath(BESIDE) : choice;
  try {
    accessSync(file, constants.X_OK);
    return file;
  } catch {
    const remedy =
      'In a checkout, npm run build:netstack -- --native makes it; without the variable, WebAssembly is used.';
    throw new MeshError('invalid_input', `MESH_NETSTACK is ${choice}, and there is no program ${file}. ${remedy}`);
  }
}
