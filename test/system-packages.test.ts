import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Of each tier, the programs that it brings: `lab) … need nft nftables … ;;`. */
const BROUGHT = new Map(
  [...readFileSync('test/system-packages.sh', 'utf8').matchAll(/^(lab|web|servers)\)(.*?)^ {2};;/gms)].map(
    ([, tier = '', part = '']) => [tier, new Set([...part.matchAll(/^ {2}need (\S+) /gm)].map(([, name]) => name))],
  ),
);

test.each(['lab', 'web', 'servers'])('each program without which a test of %s is skipped is brought', (tier) => {
  const files = globSync(`**/*.${tier}.test.ts`, { exclude: ['node_modules/**'] });
  const asked = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bisInstalled\('([\w-]+)'\)/g)].map(([, name]) => name),
  );
  expect(BROUGHT.get(tier)?.size).toBeGreaterThan(0);
  expect([...new Set(asked)].filter((name) => !BROUGHT.get(tier)?.has(name))).toEqual([]);
});
