import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { makeStore } from './make-store.ts';
import { makeWire } from './make-wire.ts';

/** `node test/releases/make.ts CHECKOUT` makes the fixture of a release, from a checkout of it in which `npm install` was run. */

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error('Give a checkout of the release.');
const checkout = path.resolve(given);
const { version } = JSON.parse(readFileSync(path.join(checkout, 'package.json'), 'utf8'));
const target = path.join(import.meta.dirname, version);
mkdirSync(target, { recursive: true });
await makeStore(checkout, target);
await makeWire(checkout, version, target);
