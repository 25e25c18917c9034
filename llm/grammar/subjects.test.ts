import { describe, expect, it } from 'vitest';
import { peer, stateWith } from '../../test/kits/records/records.ts';
import { recognise } from './lexicon.ts';
import { parseSubjects } from './subjects.ts';
import { tokenise } from './tokens.ts';

const STATE = stateWith(
  peer('web-1', { labels: { role: 'web', env: 'prod' }, address: '10.96.0.1' }),
  peer('web-2', { labels: { role: 'web', env: 'staging' }, address: '10.96.0.2' }),
  peer('db-1', { labels: { role: 'db', env: 'prod' }, address: '10.96.0.3' }),
  peer('build-box', { labels: { team: 'ci' } }),
);

const read = (text: string, state = STATE) =>
  parseSubjects(recognise(tokenise(text)), state).map(({ noun, peers }) => [
    noun,
    peers.map(({ name }) => name).join(' '),
  ]);

describe('a name that is the value of a label too', () => {
  const state = stateWith(peer('bastion', { labels: { role: 'bastion' } }), peer('db-1', { labels: { role: 'db' } }));

  it.each(['bastion', 'the bastion', '"bastion"'])(
    'means the peer, so that nobody inherits it with the label: %s',
    (text) => {
      expect(read(text, state)).toEqual([['bastion', 'bastion']]);
    },
  );

  it('means those with the label where it says so', () => {
    expect(read('bastion servers', state)).toEqual([['role=bastion', 'bastion']]);
  });
});

describe('who is meant', () => {
  it.each([
    ['web', 'role=web', 'web-1 web-2'],
    ['the web servers', 'role=web', 'web-1 web-2'],
    ['all of our web nodes', 'role=web', 'web-1 web-2'],
    ['both web servers', 'role=web', 'web-1 web-2'],
    ['the two web servers', 'role=web', 'web-1 web-2'],
    ['the databases', 'role=db', 'db-1'],
    ['role=web', 'role=web', 'web-1 web-2'],
    ['role = web', 'role=web', 'web-1 web-2'],
    ['Role: Web', 'role=web', 'web-1 web-2'],
    ['peers labelled role=web', 'role=web', 'web-1 web-2'],
    ['servers whose role is web', 'role=web', 'web-1 web-2'],
    ['hosts with the label env prod', 'env=prod', 'web-1 db-1'],
    ['peers in the prod environment', 'env=prod', 'web-1 db-1'],
    ['the production web servers', 'env=prod,role=web', 'web-1'],
    ['role=web,env=prod', 'role=web,env=prod', 'web-1'],
    ['web servers in prod', 'role=web,env=prod', 'web-1'],
    ['peer web-1', 'web-1', 'web-1'],
    ['"web-1"', 'web-1', 'web-1'],
    ['build box', 'build-box', 'build-box'],
    ['10.96.0.3', 'db-1', 'db-1'],
    ['10.96.0.0/30', '10.96.0.0/30', 'web-1 web-2 db-1'],
    ['fd00::/8', 'fd00::/8', ''],
    ['203.0.113.7', '203.0.113.7/32', ''],
    ['the internet', 'addresses outside of the network', ''],
    ['everyone', 'everyone', 'web-1 web-2 db-1 build-box'],
    ['the entire network', 'everyone', 'web-1 web-2 db-1 build-box'],
    ['everyone except web', 'everyone except role=web', 'db-1 build-box'],
    ['all but web-1 and db', 'everyone except web-1, role=db', 'web-2 build-box'],
    ['the web servers other than web-2', 'role=web except web-2', 'web-1'],
  ])('"%s" is %s', (text, noun, peers) => {
    expect(read(text)).toEqual([[noun, peers]]);
  });

  it('may be several, each once', () => {
    expect(read('web, db-1 and role=web as well as build-box').map(([noun]) => noun)).toEqual([
      'role=web',
      'db-1',
      'build-box',
    ]);
  });

  it.each([
    ['the server', /does not say which/],
    ['some web servers', /does not say which/],
    ['the web server', /is one, and role=web are 2/],
    ['the server in prod', /is one, and env=prod are 2/],
    ['the three web servers', /are 2, not 3/],
    ['it', /not clear who/],
    ['everyone and web', /everyone and someone/],
    ['web except db', /is no part of/],
    ['web except web', /Nobody is left/],
    ['role=web,role=db', /two values of the label role/],
    ['staging databases', /no one carries/],
    ['wbe', /Nothing is called "wbe"/],
    ['web frobnicators', /Nothing is called/],
    ['role=printer', /No peer has the label/],
  ])('"%s" is not guessed', (text, reason) => {
    expect(() => read(text)).toThrow(reason);
  });

  it('that is unknown is refused with the nearest names', () => {
    expect(() => read('wbe-1')).toThrow(expect.objectContaining({ questions: ['Did you mean "web-1"?'] }));
  });

  it('asks when a word for everyone is also the value of a label', () => {
    const state = stateWith(peer('x', { labels: { role: 'everyone' } }), peer('y'));
    expect(() => read('everyone', state)).toThrow(/also a value of the label role/);
  });

  it.each(['the database', 'prod databases'])('asks when "%s" is the value of one label and means another', (text) => {
    const state = stateWith(...STATE.peers.values(), peer('guest', { labels: { note: 'database', env: 'prod' } }));
    expect(() => read(text, state)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/has more than one meaning/),
        questions: [expect.stringMatching(/^(?=.*role=db \(1 peers\))(?=.*note=database \(1 peers\))/)],
      }),
    );
    expect(read('role=db', state)).toEqual([['role=db', 'db-1']]);
    expect(read('"database"', state)).toEqual([['note=database', 'guest']]);
  });

  it('leaves peers out by the label that tells them apart, and not by their names of today', () => {
    const [subject] = parseSubjects(recognise(tokenise('web except prod web servers')), STATE);
    expect([subject?.selector, subject?.terms, subject?.peers.map(({ name }) => name)]).toEqual([
      { matchLabels: { role: 'web' }, matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }] },
      ['role=web,env!=prod'],
      ['web-2'],
    ]);
  });
});
