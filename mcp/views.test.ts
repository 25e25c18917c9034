import type { Client } from '@modelcontextprotocol/client';
import { EXTENSION_ID, RESOURCE_MIME_TYPE as MIME } from '@modelcontextprotocol/ext-apps/server';
import { describe, expect, test } from 'vitest';
import { startTestMcp } from './plane.testkit.ts';

const URI = 'ui://mesh/workflow';
const view = {
  name: 'workflow',
  title: 'Workflow',
  description: 'A workflow',
  tools: ['get_workflow'],
  html: '<!doctype html><title>A workflow</title>',
};
const showing = (settings: object) => ({ extensions: { [EXTENSION_ID]: { ...settings } } });
const HTML = showing({ mimeTypes: [MIME] });

const call = (client: Client, args = {}) =>
  client.callTool({ name: 'get_workflow', arguments: { id: 'wf_1', ...args } });

/** All that a client sees of what is offered, and of an answer. */
async function seenBy(client: Client) {
  const [tools, resources, templates] = [
    await client.listTools(),
    await client.listResources(),
    await client.listResourceTemplates(),
  ];
  const page = await client.readResource({ uri: URI }).catch(({ code }: { code: number }) => code);
  return { tools, resources, templates, page, answer: await call(client) };
}

describe.each([['legacy'], [{ pin: '2026-07-28' }]] as const)('a client in mode %j', (mode) => {
  test('that negotiated MCP Apps is offered the views, and told which tool has which', async () => {
    await using plane = await startTestMcp({ views: [view] });
    const client = await plane.connect('reader', mode, {}, HTML);
    expect(client.getServerCapabilities()?.extensions).toEqual({ [EXTENSION_ID]: {} });
    const { tools, resources, page } = await seenBy(client);
    expect(Object.fromEntries(tools.tools.map(({ name, _meta }) => [name, _meta]))).toEqual({
      list_peers: { ui: { visibility: ['model'] } },
      get_workflow: { ui: { resourceUri: URI, visibility: ['model'] } },
      list_snapshots: { ui: { visibility: ['model'] } },
      find_cause: { ui: { visibility: ['model'] } },
    });
    const { html: text, tools: _tools, ...listed } = view;
    const _meta = { ui: { prefersBorder: true } };
    expect(resources.resources.filter(({ uri }) => uri === URI)).toEqual([
      { uri: URI, mimeType: MIME, ...listed, _meta },
    ]);
    expect(page).toMatchObject({ contents: [{ uri: URI, mimeType: MIME, text, _meta }] });
    expect(await client.readResource({ uri: 'ui://mesh/other' }).catch(({ code }) => code)).toBe(-32_602);
  });

  test.each([
    ['does not name the extension', {}],
    ['shows other content than HTML', showing({ mimeTypes: ['text/uri-list'] })],
    ['says nothing of what it shows', showing({})],
    ['says it in another form', showing({ mimeTypes: MIME })],
  ])('that %s sees what it would see without views', async (_what, capabilities) => {
    await using plane = await startTestMcp({ views: [view] });
    await using without = await startTestMcp();
    const seen = await seenBy(await plane.connect('reader', mode, {}, capabilities));
    const expected = await seenBy(await without.connect('reader', mode, {}, capabilities));
    expect(seen).toEqual(expected);
    expect(seen.page).toBe(-32_602);
  });

  test('is led to the workspace that an answer is of, where one is meant', async () => {
    await using plane = await startTestMcp({ views: [view] });
    const client = await plane.connect('both', mode, {}, HTML);
    const dashboard = (answer: Awaited<ReturnType<typeof call>>) => answer._meta?.['mesh/dashboard'];
    expect(dashboard(await call(client, { workspace_id: 'one' }))).toBe('http://mesh.test:18090/#/w_1');
    expect(dashboard(await call(client, { workspace_id: 'another' }))).toBeUndefined();
    expect(dashboard(await call(client))).toBeUndefined();
    const bound = await plane.connect('both', mode, { 'x-workspace-id': 'w_2' }, HTML);
    expect(dashboard(await call(bound))).toBe('http://mesh.test:18090/#/w_2');
    const only = await plane.connect('reader', mode, {}, HTML);
    expect(dashboard(await call(only))).toBe('http://mesh.test:18090/#/w_1');
  });
});
