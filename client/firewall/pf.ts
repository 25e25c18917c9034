import { MeshError } from '../../core/base/errors.ts';
import type { FirewallRules } from '../../core/model/graph.ts';
import { runProgram } from '../run-program.ts';
import type { Firewall } from './firewall.ts';
import { losers, renderPf } from './pf-render.ts';
import { serialiser } from './serialise.ts';

interface InForce {
  readonly rules: FirewallRules;
  readonly text: string;
  /** As pf prints them back. */
  readonly shown: string;
}

/**
 * The rules of an interface in macOS' pf, in an anchor that the system's own rules call (`anchor "com.apple/*"`). Never
 * run on a Mac so far, as the tunnel there.
 */
export function pfFirewall(interfaceName: string, run: typeof runProgram = runProgram): Firewall {
  const anchor = `com.apple/250.Mesh.${interfaceName}`;
  let inForce: InForce | undefined;
  /** Token of pf for being turned on; given back, it turns itself off when nobody else needs it. */
  let token: string | undefined;
  const serialise = serialiser();

  async function pfctl(args: readonly string[], stdin = ''): Promise<{ stdout: string; stderr: string }> {
    const { code, stdout, stderr } = await run('pfctl', args, { stdin });
    if (code === 0) return { stdout, stderr };
    throw new MeshError('unavailable', `pfctl ${args.join(' ')} failed: ${stderr.trim().split('\n').at(-1)}`);
  }

  async function turnOn(): Promise<void> {
    const { stdout, stderr } = await pfctl(['-E']);
    token = /Token\s*:\s*(\d+)/.exec(`${stdout}${stderr}`)?.[1] ?? token;
  }

  const isOn = async () => /^Status: Enabled/m.test((await pfctl(['-s', 'info'])).stdout);
  const shownRules = async () => (await pfctl(['-a', anchor, '-s', 'rules'])).stdout;

  async function put(text: string, rules: FirewallRules): Promise<void> {
    await pfctl(['-a', anchor, '-f', '-'], text);
    if (!(await isOn())) await turnOn();
    inForce = { rules, text, shown: await shownRules() };
  }

  /** From the peer and to it. */
  async function endConnections(cidr: string): Promise<void> {
    const everyone = cidr.includes(':') ? '::/0' : '0.0.0.0/0';
    await pfctl(['-k', cidr]);
    await pfctl(['-k', everyone, '-k', cidr]);
  }

  return {
    apply: (own, rules, now) =>
      serialise(async () => {
        const before = inForce?.rules;
        await put(renderPf(interfaceName, own, rules, now), rules);
        if (before === undefined) await pfctl(['-i', interfaceName, '-F', 'states']);
        else for (const cidr of losers(before, rules, now)) await endConnections(cidr);
      }),
    watch: () => ({ close: async () => {} }),
    isGuarded: () => false,
    maintain: () =>
      serialise(async () => {
        if (!inForce) return false;
        const { text, rules, shown } = inForce;
        if ((await isOn()) && (await shownRules()) === shown) return false;
        await put(text, rules);
        return true;
      }),
    close: () =>
      serialise(async () => {
        inForce = undefined;
        await pfctl(['-a', anchor, '-F', 'all']);
        if (token !== undefined) await pfctl(['-X', token]);
        token = undefined;
      }),
  };
}
