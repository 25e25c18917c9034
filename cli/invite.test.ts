import { afterEach, expect, test, vi } from 'vitest';
import { reachable } from './invite.ts';

afterEach(() => vi.restoreAllMocks());

test('a join link carries the address of the login where the control plane knows its own machine alone', () => {
  expect(reachable('http://127.0.0.1:18090', 'http://10.0.0.5:18090')).toBe('http://10.0.0.5:18090');
  expect(reachable('https://mesh.example.com', 'http://10.0.0.5:18090')).toBe('https://mesh.example.com');
});

test('a join link that only the machine of the control plane can use says what to set', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(reachable('http://127.0.0.1:18090', 'http://localhost:18090')).toBe('http://localhost:18090');
  expect(write).toHaveBeenCalledWith(expect.stringContaining('Set app.publicUrls'));
});
