// Words to fill small filters with, always in the same order, so that a class sees what the teacher
// saw.

const nouns = (
  "apple pear plum cherry peach lemon melon grape orange banana apricot fig olive walnut almond hazel oak " +
  "birch maple willow cedar pine elm rose tulip lily iris daisy clover moss fern reed wheat barley rice maize potato " +
  "carrot onion garlic pepper tomato cabbage spinach basil thyme mint sugar salt honey bread butter cheese milk tea " +
  "coffee water river lake sea island harbour bridge road market tower castle garden window door table chair lamp " +
  "clock mirror basket bottle needle thread button ribbon hammer anvil furnace iron copper silver gold tin lead " +
  "stone sand clay cloud rain snow wind storm sun moon star comet horse cow sheep goat pig dog cat fox wolf " +
  "bear deer hare otter seal whale dolphin eel trout salmon crab owl robin swan goose crow raven eagle"
).split(" ");
const colours = "red green blue white black yellow brown grey".split(" ");

// Different words for i = 0, 1, ...: the nouns first, then each in several colours, then numbered.
export function wordAt(i) {
  if (i < nouns.length) return nouns[i];
  const j = i - nouns.length;
  const colour = Math.floor(j / nouns.length);
  return colour < colours.length ? `${colours[colour]} ${nouns[j % nouns.length]}` : `word ${i}`;
}
