import type { World } from '../world.ts';
import { call, createPolicy, read, ruleOf } from '../writes.ts';

const SPAN_MS = 150;
const AT_ONCE = 3;

/** While workspaces are made, each of which is there then with its network and its first member, or not at all. */
export async function killInWorkspace(world: World): Promise<void> {
  const slugs = Array.from({ length: AT_ONCE }, () => `s${world.random.below(1e9)}`);
  const acknowledged = new Set<string>();
  const add = async (slug: string) => {
    const body = { slug, namespace: slug, displayName: slug, maxNodeCount: 10 };
    const { status, text } = await call(world.place, 'POST', '/workspaces/add', body);
    if (status > 299) throw new Error(`A workspace was refused: ${text}`);
    acknowledged.add(slug);
  };
  await world.killDuring('workspace creation', () => Promise.allSettled(slugs.map(add)), SPAN_MS);
  world.looks.push(async ({ place, random }) => {
    const { body } = await read(place, '/workspaces?limit=200');
    const findings: string[] = [];
    for (const slug of slugs) {
      const found = body.items.find((each: { slug: string }) => each.slug === slug);
      if (found === undefined && acknowledged.has(slug)) findings.push(`lost: workspace ${slug}`);
      if (found === undefined) await add(slug);
      const within = { ...place, workspace: found?.id ?? slug };
      const [networks, members] = [
        await read(within, '/networks'),
        await read(within, `/workspaces/${within.workspace}/members`),
      ];
      if (networks.body.items?.map(({ name }: { name: string }) => name).join() !== 'default')
        findings.push(`workspace ${slug} has the networks ${networks.text}`);
      if (members.body.items?.map(({ username }: { username: string }) => username).join() !== 'admin')
        findings.push(`workspace ${slug} has the members ${members.text}`);
      const { status, text } = await createPolicy('first', ruleOf(random)).send(within);
      if (status !== 201) findings.push(`workspace ${slug} takes no policy: ${text}`);
    }
    return findings;
  });
}
