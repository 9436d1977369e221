"""Hierarchies: given in every form, read from SKOS, and aligned with a vocabulary."""

import sys

import numpy as np
import pytest
from sklearn.base import clone

from manyview import TagForest, TagHierarchy, load, save
from manyview.data.tags import TagTable
from manyview.errors import MissingExtra, ParameterError, StoreError

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
PREFIX ex: <http://example.net/>
# ### comment
ex:animal a skos:Concept ; skos:prefLabel "animal"@en , "Tier"@de .
ex:dog a skos:Concept ; skos:prefLabel "dog"@en, \"\"\"Hu\\u006Ed\"\"\"@de ; skos:broader ex:animal .
<http://example.net/cat> skos:prefLabel 'cat' ; skos:altLabel "kitty; or. so"@en .
ex:animal skos:narrower <http://example.net/cat> . # the end
ex:note skos:note [ ex:x "y" ] .
# last
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://example.net/animal"><skos:prefLabel xml:lang="de">Tier</skos:prefLabel>
<skos:prefLabel xml:lang="en">animal</skos:prefLabel>
<skos:narrower><skos:Concept rdf:about="http://example.net/cat"><skos:prefLabel>cat</skos:prefLabel></skos:Concept></skos:narrower>
</skos:Concept>
<skos:Concept rdf:about="http://example.net/dog"><skos:prefLabel xml:lang="en">dog</skos:prefLabel>
<skos:broader rdf:resource="http://example.net/animal"/></skos:Concept>
</rdf:RDF>"""


def test_layers_paths_and_parents_say_the_same():
    layers = TagHierarchy.from_layers([["animal", "plant"], ["dog", "cat"], ["poodle"]])
    paths = TagHierarchy.from_paths(["Animal|dog|poodle", "animal|cat", "plant"])
    parents = TagHierarchy.from_parents(["poodle", "dog", "animal", "plant", "cat"], ["dog", 2, None, -1, "ANIMAL"])
    for found in (layers, paths, parents):
        assert [{word.lower() for word in layer} for layer in found.layers] == [
            {"animal", "plant"},
            {"dog", "cat"},
            {"poodle"},
        ]
        assert found.level("DOG") == 1 and "poodle" in found and "bird" not in found and found.n_layers == 3
    assert layers.above("poodle") == () and parents.above("poodle") == ("dog", "animal")
    assert set(parents.below("animal")) == {"dog", "cat", "poodle"}
    assert repr(paths) == "TagHierarchy(5 tags in 3 layers)"


def test_a_tag_stands_below_everything_above_it():
    diamond = TagHierarchy.from_paths(["a|b|c", "a|c", "d|a"])
    assert [diamond.level(word) for word in "dabc"] == [0, 1, 2, 3]
    deep = TagHierarchy.from_parents([f"t{i}" for i in range(5000)], [None, *range(4999)])
    assert deep.n_layers == 5000


def test_columns_of_a_vocabulary():
    tree = TagHierarchy.from_paths(["animal|dog|poodle", "plant"])
    found = tree.columns(["poodle", "Plant", "unknown", "ANIMAL"])
    assert [layer.tolist() for layer in found] == [[1, 3], [0, 2]]  # nobody carries "dog": that layer is left out


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TagHierarchy.from_paths(["a|b", "b|c", "c|a"]), "its own ancestor: .*'a'"),
        (lambda: TagHierarchy.from_paths("a|b"), "list of paths"),
        (lambda: TagHierarchy.from_paths(["a||b"]), "empty part"),
        (lambda: TagHierarchy.from_layers([["a"], ["A"]]), "appears twice"),
        (lambda: TagHierarchy.from_layers(["ab", "cd"]), "list of tags"),
        (lambda: TagHierarchy.from_layers([["a", 3]]), "must be a word"),
        (lambda: TagHierarchy.from_parents(["a"], ["z"]), "none of the 1 names"),
        (lambda: TagHierarchy.from_parents(["a"], []), "one tag for each"),
        (lambda: TagHierarchy.from_parents([1, 2], [None, 0]), "must be a word, got 1"),
        (lambda: TagHierarchy.from_parents(["a", "b"], [None, ["a"]]), r"parent of 'b' is \['a'\].*write from_paths"),
        (lambda: TagHierarchy.from_parents(["a", "b"], [None, np.nan]), "parent of 'b' is nan"),
        (lambda: TagHierarchy.from_parents(["a", "b"], [None, 0.9]), "parent of 'b' is 0.9"),
        (lambda: TagHierarchy(["a"], [-1]), "'a' has -1"),
        (lambda: TagHierarchy(["a", "b"], [0, 1], [[], [7]]), "parent of 'b' is 7"),
        (lambda: TagHierarchy(["a"], []), "one level"),
        (lambda: TagHierarchy.from_layers([["a"]]).level("b"), "no tag 'b'"),
    ],
)
def test_errors_say_what_is_wrong(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


@pytest.mark.parametrize("text", [TURTLE, XML], ids=["turtle", "xml"])
def test_skos_files(text, tmp_path):
    path = tmp_path / "thesaurus"
    path.write_text(text, encoding="utf-8")
    english = TagHierarchy.from_skos(path, language="en")
    assert set(english.layers[0]) == {"animal"} and set(english.layers[1]) == {"dog", "cat"}
    assert "Tier" in TagHierarchy.from_skos(path, language="de")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no skos:prefLabel"),
        (b"<?xml version='1.0'?><rdf", "cannot be read as RDF/XML"),
        (b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "EntitiesForbidden"),
        (b"\xff\xfe\x00", "neither RDF/XML nor Turtle"),
        (b'ex:a skos:prefLabel "never closed', "cannot be read as Turtle at line 1"),
        (b'@prefix ex: <e:> .\nex:a ex:b "never closed', "cannot be read as Turtle: .*string"),
        (b'ex:a skos:prefLabel "a" ; skos:broader ex:b', "cannot be read as Turtle"),
        (b"#" * 200, "no skos:prefLabel"),
    ],
)
def test_damaged_skos_files_are_named(content, words, tmp_path):
    path = tmp_path / "damaged.ttl"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=words):
        TagHierarchy.from_skos(path)
    with pytest.raises(StoreError, match="no file"):
        TagHierarchy.from_skos(tmp_path / "nothing")


def test_skos_of_every_form_that_turtle_knows(tmp_path):
    path = tmp_path / "thesaurus.ttl"
    path.write_text(
        """@base <http://example.org/> . PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
        <dog> a skos:Concept ; skos:prefLabel 'dog'@en-GB, "Hund"@de ; skos:broader [ skos:prefLabel "animal"@en ] .
        <poodle> skos:prefLabel \"\"\"poodle\"\"\" ; skos:broader <dog> .""",
        encoding="utf-8",
    )
    found = TagHierarchy.from_skos(path, language="en")
    assert [list(layer) for layer in found.layers] == [["animal"], ["dog"], ["poodle"]]


def test_without_the_extra_skos_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    path = tmp_path / "thesaurus.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with pytest.raises(MissingExtra, match=r'pip install "manyview\[skos\]"'):
        TagHierarchy.from_skos(path)


def test_a_forest_with_a_hierarchy_is_cloned_and_saved(tmp_path):
    tree = TagHierarchy.from_paths(["a|b", "a|c"])
    model = TagForest(2, n_estimators=5, hierarchy=tree, random_state=0)
    assert clone(model).hierarchy == tree and tree != TagHierarchy.from_layers([["a"], ["b", "c"]]) and tree != 1
    X = np.random.default_rng(0).normal(size=(20, 3))
    model.fit(X, [["a", "b"] if i % 2 else ["c"] for i in range(20)])
    back = load(save(model, tmp_path / "model"))
    assert back.hierarchy == tree and np.array_equal(back.predict(X), model.predict(X))


def test_tables_with_what_stands_above():
    table = TagTable.from_lists([["dog"], ["cat", "animal"], ["tulip"], []], no=[[], ["dog"], [], []])
    raised = TagHierarchy.from_paths(["life|animal|dog", "life|animal|cat", "life|plant|tulip"]).raised(table)
    assert [sorted(raised.words_of(n)) for n in range(4)] == [
        ["animal", "dog", "life"],
        ["animal", "cat", "life"],
        ["life", "tulip"],  # a plant is nothing but the tulip here
        [],
    ]
    assert TagHierarchy.from_paths(["plant|tulip"]).raised(table) is table


def test_raised_tags_keep_what_was_answered_with_no():
    tree = TagHierarchy.from_paths(["animal|dog", "animal|cat"])
    table = TagTable.from_lists([["dog"], ["cat"], []], no=[["animal"], [], ["dog"]])
    raised = tree.raised(table)
    assert [sorted(raised.words_of(item)) for item in range(3)] == [["dog"], ["animal", "cat"], []]
    assert raised.no[0, raised.index("animal")] and raised.no[2, raised.index("dog")] and raised.no.nnz == 2
    assert tree.raised([["dog"], ["cat"]]).words_of(0) == ["dog", "animal"]
