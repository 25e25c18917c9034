import { expect, test } from 'vitest';
import { notesOf } from './notes.ts';

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n### Added\n\n- New.\n\n## 0.2.0\n\n### Fixed\n\n- Old.\n';

test('the notes of a version are its section of the changelog', () => {
  expect(notesOf(CHANGELOG, '0.2.0')).toEqual({ text: '# Mesh 0.2.0\n\n### Fixed\n\n- Old.\n', isReleased: true });
});

test('the notes of a version without a section are those of what is not released', () => {
  expect(notesOf(CHANGELOG, '0.3.0')).toEqual({ text: '# Mesh 0.3.0\n\n### Added\n\n- New.\n', isReleased: false });
});

test('a changelog with neither is refused', () => {
  expect(() => notesOf('# Changelog\n\n## 0.2.0\n', '0.3.0')).toThrow('CHANGELOG.md has no section 0.3.0');
});
