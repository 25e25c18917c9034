import { describe, expect, it } from 'vitest';
import { CredentialTable, credentialDigest } from './credentials.ts';
import { nodePermissions } from './permissions.ts';

const credential = { id: 'c1', digest: credentialDigest('secret'), workspace: 'w1', peer: 'p1' };

describe('credential table', () => {
  it('grants a known secret the rights of its peer', () => {
    const table = new CredentialTable();
    table.set({ ...credential, expiresAt: 10 });
    expect(table.verify('secret', 9)).toEqual({ id: 'c1', permissions: nodePermissions('w1', 'p1'), expiresAt: 10 });
  });

  it('refuses unknown, expired and removed secrets', () => {
    const table = new CredentialTable();
    table.set({ ...credential, expiresAt: 10 });
    const answers = [table.verify('other', 9), table.verify('', 9), table.verify('secret', 10)];
    table.remove('c1');
    expect([...answers, table.verify('secret', 9)]).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('replaces the secret of an id', () => {
    const table = new CredentialTable();
    table.set(credential);
    table.set({ ...credential, digest: credentialDigest('new') });
    expect([table.verify('secret', 0), table.verify('new', 0)?.id]).toEqual([undefined, 'c1']);
  });
});
