import type { runProgram } from '../../../run-program.ts';
import type { Opened } from '../opened.ts';
import { firewalld } from './firewalld.ts';
import { nft } from './nft.ts';
import type { Tool } from './tool.ts';
import { ufw } from './ufw.ts';

type Name = Opened['tool'];

const TOOLS: Readonly<Record<Name, (interfaceName: string, run: typeof runProgram) => Tool>> = { ufw, firewalld, nft };

export function toolOf(name: Name, interfaceName: string, run: typeof runProgram): Tool {
  return TOOLS[name](interfaceName, run);
}

/** Who is active has the rules of the host; nft loads no rules of its own accord. */
export async function activeTool(interfaceName: string, run: typeof runProgram): Promise<Name> {
  for (const name of ['ufw', 'firewalld'] as const) if (await toolOf(name, interfaceName, run).isActive()) return name;
  return 'nft';
}
